package load

import (
	"fsward/blocktap"
	"fsward/interp/detect"
)

// Members returns the images that belong to the file system fs. A load may have added or removed
// devices.
func Members(images []string, fs string) (list []string, err error) {
	for _, image := range images {
		file, err := blocktap.OpenImage(image)
		if err != nil {
			return nil, err
		}
		if name, err := detect.Name(file, detect.Auto); err == nil && name == fs {
			list = append(list, image)
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
